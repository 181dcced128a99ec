-- The hash of an entry, over the hash of the one before it (register_entry, audit_entry).
create or replace function link_hash(in_prev_hash bytea, in_entry text) returns bytea
language sql stable
return sha256(convert_to(encode(in_prev_hash, 'hex') || e'\n' || in_entry, 'UTF8'));
