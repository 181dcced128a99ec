-- From now on these are served. Without in_others nothing is said of any other one; with it no other one is.
create or replace function serve_namespaces(in_namespaces text[], in_served boolean, in_others boolean) returns void
language plpgsql
as $$
begin
  insert into place_namespaces as n (namespace, served)
  select u.namespace, in_served from unnest(in_namespaces) as u(namespace) order by 1
  on conflict (namespace) do update set served = excluded.served where n.served <> excluded.served;
  if in_others then
    update place_namespaces n set served = not in_served
    where n.served = in_served and n.namespace <> all (in_namespaces);
  end if;
end
$$;
