-- Nobody was asked to run the version, for certain: it is as if it had not been stored, unless another was stored on top of it.
create or replace function take_back_app_env(in_app text, in_version integer) returns void
language sql volatile security definer set search_path = public, pg_temp
begin atomic
  delete from app_env e
  where e.app = in_app and e.version = in_version
    and not exists (select from app_env o where o.app = in_app and o.version > in_version);
end;
