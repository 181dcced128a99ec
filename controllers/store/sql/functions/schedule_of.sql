-- The rows of some resources, as the plan compares them with its wishes.
create or replace function schedule_of(in_resource text) returns json
language sql stable
return (
  select json_agg(json_build_object(
    'purpose', s.purpose, 'dueAt', iso_ms(s.due_at), 'lapsesAt', iso_ms(s.lapses_at), 'generation', s.generation,
    'factSeq', s.fact_seq, 'effect', s.effect
  ) order by s.purpose)
  from schedule s where s.resource = in_resource
);
