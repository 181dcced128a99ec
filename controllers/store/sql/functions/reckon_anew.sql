-- The zone that an issuer's instants were reckoned in is another: a pass over each of its invoices reckons them anew. When a
-- test goes is no matter of zones.
create or replace function reckon_anew(in_account text, in_issuer text, in_now timestamptz) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  update schedule s set due_at = in_now, generation = 0, looked_at = null
  from mirror m
  where m.kind = 'Invoice' and m.account = in_account and m.issuer_id = in_issuer
    and s.kind = m.kind and s.resource = m.name and s.purpose <> 'purge';
end;
