-- A change of a name's life is a fact, whoever made it.
create or replace function note_site_name() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    insert into site_name_facts (name, account, site, state, proof, at)
    values (old.name, old.account, old.site, 'free', null, platform_now());
    return old;
  end if;
  insert into site_name_facts (name, account, site, state, proof, at)
  values (new.name, new.account, new.site, new.state, new.proof, platform_now());
  return new;
end
$$;

create or replace trigger site_name_has_come_or_gone after insert or delete on site_names
  for each row execute function note_site_name();
create or replace trigger site_name_has_changed after update on site_names
  for each row when ((old.state, old.account, old.site, old.proof) is distinct from (new.state, new.account, new.site, new.proof))
  execute function note_site_name();
