-- As refuse_change, for tables of which purge_test may take away the rows of a test.
create or replace function refuse_removal() returns trigger
language plpgsql
as $$
begin
  if current_setting('bottega.purging', true) = old.resource and is_test_invoice(old.resource) then
    return old;
  end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'P0001';
end
$$;

create or replace trigger sends_are_kept before delete on sends for each row execute function refuse_removal();
create or replace trigger snapshots_are_kept before delete on snapshots for each row execute function refuse_removal();
create or replace trigger facts_are_kept before delete on facts for each row execute function refuse_removal();
