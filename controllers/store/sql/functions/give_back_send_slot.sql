-- The send was refused or never asked for: its place is free again, unless the document was frozen.
create or replace function give_back_send_slot(in_resource text, in_n integer) returns table (given boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  slot record;
begin
  delete from send_slots s
  where s.resource = in_resource and s.n = in_n
    and not exists (select from sends t where t.resource = in_resource and t.n = in_n)
  returning s.account, s.day into slot;
  if not found then
    return query select false;
    return;
  end if;
  update send_days d set used = greatest(0, d.used - 1) where d.account = slot.account and d.day = slot.day;
  return query select true;
end
$$;
