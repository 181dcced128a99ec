-- Something was queued for an endpoint by hand: nobody waits for the next look.
create or replace function tell_herald(in_endpoint text) returns void
language sql
return pg_notify('webhooks', in_endpoint);
