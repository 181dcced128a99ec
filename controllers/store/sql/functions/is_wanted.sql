-- Whether an endpoint that asked for these is told of this one.
create or replace function is_wanted(in_events text[], in_type text) returns boolean
language sql immutable
return in_events && array[in_type, '*', split_part(in_type, '.', 1) || '.*'];
