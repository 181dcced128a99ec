-- What is hashed of an entry, whatever it says. The words of `issued` are those of register_entry alone, as they were before
-- entries said anything else; those of another go on with two lines, so neither can be taken for the other:
--   … \n issued_at \n entry \n reference
create or replace function register_line(
  in_number text, in_resource text, in_kind text, in_total_cents bigint, in_currency text, in_issued_at timestamptz,
  in_entry text, in_reference text
) returns text
language sql stable
return register_entry(in_number, in_resource, in_kind, in_total_cents, in_currency, in_issued_at)
  || case when in_entry = 'issued' then '' else e'\n' || in_entry || e'\n' || in_reference end;
