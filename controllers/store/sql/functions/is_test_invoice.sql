-- Documents are kept for ever, except those of a test, which goes after its time (rules/invoice.md#tests). The schema knows which are.
create or replace function is_test_invoice(in_resource text) returns boolean
language sql stable
return coalesce((select r.claimed -> 'test' = 'true'::jsonb from register r where r.resource = in_resource and r.step = 0), true);
