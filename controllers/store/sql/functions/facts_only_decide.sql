-- What was reported is never changed; the verdict on it is written once.
create or replace function facts_only_decide() returns trigger
language plpgsql
as $$
begin
  if old.state = 'pending' and new.state in ('accepted', 'refused')
    and (old.resource, old.seq, old.key, old.kind, old.body, old.written_by, old.at)
      is not distinct from (new.resource, new.seq, new.key, new.kind, new.body, new.written_by, new.at)
  then
    return new;
  end if;
  raise exception 'a fact is written once, and decided once while it is pending' using errcode = 'P0001';
end
$$;

create or replace trigger facts_are_decided_once before update on facts
  for each row execute function facts_only_decide();
