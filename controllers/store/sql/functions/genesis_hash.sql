-- What the first entry of a chain follows.
create or replace function genesis_hash(in_series_id text) returns bytea
language sql immutable
return sha256(convert_to(in_series_id, 'UTF8'));
