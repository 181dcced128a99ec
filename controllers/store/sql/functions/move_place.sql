-- Whoever had the name is not there any more: it is another's, unless somebody was faster.
create or replace function move_place(in_kind text, in_name text, in_from text, in_to text, in_account text, in_uid text)
returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  update places p set namespace = in_to, account = in_account, uid = in_uid
  where p.kind = in_kind and p.name = in_name and p.namespace = in_from
    and not exists (select from place_namespaces n where n.namespace = in_from and not n.served);
  return found;
end
$$;
