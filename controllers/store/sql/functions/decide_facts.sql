-- in_verdicts  [{resource, seq, state, refusedCode, outcome?, at, event?}]; gives how each fact stands now, decided by this
-- or before.
create or replace function decide_facts(in_lease text, in_epoch bigint, in_verdicts json)
returns table (resource text, seq bigint, state text)
language plpgsql
as $$
#variable_conflict use_column
declare
  verdict record;
begin
  perform fence(in_lease, in_epoch);
  -- One by one and in one order: two deciders never wait in a circle, and each is a look-up by key.
  for verdict in
    select v.* from json_to_recordset(in_verdicts) as v(
      resource text, seq bigint, state text, "refusedCode" text, outcome jsonb, at timestamptz(3), event json
    )
    order by v.resource, v.seq
  loop
    update facts f set
      state = verdict.state, refused_code = verdict."refusedCode", outcome = verdict.outcome, decided_at = verdict.at
    where f.resource = verdict.resource and f.seq = verdict.seq and f.state = 'pending';
    if found and verdict.state = 'accepted' and verdict.event is not null then
      perform tell_event(f.resource, f.key, verdict.event, verdict.at)
      from facts f where f.resource = verdict.resource and f.seq = verdict.seq;
    end if;
    return query
    select f.resource, f.seq, f.state from facts f where f.resource = verdict.resource and f.seq = verdict.seq;
  end loop;
end
$$;
