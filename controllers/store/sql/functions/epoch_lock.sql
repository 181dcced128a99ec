-- Effects hold this lock in share mode, whoever takes the epoch holds it alone. An advisory lock, because a lock on the
-- row would be a write to it for every effect.
create or replace function epoch_lock(in_lease text) returns bigint
language sql immutable
return hashtextextended('epoch/' || in_lease, 0);
