-- One at a time changes what an owner is committed to; the row is made for the first.
create or replace function lock_devbox_owner(in_account text) returns void
language plpgsql
as $$
begin
  insert into devbox_owners (account) values (in_account) on conflict do nothing;
  perform from devbox_owners o where o.account = in_account for update;
end
$$;
