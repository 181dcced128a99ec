-- A resource is to be looked at, and the API server could not be told. Of its own transaction: no row is written with it.
create or replace function tell_wake(in_kind text, in_name text) returns void
language sql
return pg_notify('wakes', json_build_array(in_kind, in_name)::text);
