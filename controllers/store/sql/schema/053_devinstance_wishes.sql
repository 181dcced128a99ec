-- A report tells of use: report_devbox takes one argument more, and the latest instant is kept beside the latest report.
drop function if exists report_devbox(text, jsonb, timestamptz, integer);
alter table devbox_report_heads add column if not exists used_at timestamptz(3);

-- A row knows what its spec said last of power and size. In one from before nothing of it could change, so it said what was
-- reserved; and what it had cost when its month began is reckoned by the price of now, until the next month.
with said as (
  select d.resource, d.box -> 'meter' as meter,
    (
      select f.body -> 'said' -> 'spec' from facts f
      where f.resource = d.resource and f.kind = 'devbox.reserve' order by f.seq desc limit 1
    ) as spec
  from devboxes d
  where d.box is not null and not d.box ? 'powerWish'
), reckoned as (
  select s.*,
    extract(epoch from (s.meter ->> 'since')::timestamptz - greatest(
      (d.box ->> 'reservedAt')::timestamptz,
      date_trunc('month', (s.meter ->> 'since')::timestamptz at time zone 'UTC') at time zone 'UTC'
    )) / (730 * 3600) as months
  from said s join devboxes d on d.resource = s.resource
)
update devboxes d set box = d.box || jsonb_build_object(
  'powerWish', jsonb_build_object(
    'power', null, 'wish', 0, 'generation', 1, 'at', d.box -> 'reservedAt', 'open', false
  ),
  'sizeWish', jsonb_build_object(
    'sizeClass', coalesce(r.spec -> 'sizeClass', d.box -> 'sizeClass'), 'diskGb', coalesce(r.spec -> 'diskGb', 'null'::jsonb),
    'wish', 0, 'generation', 1, 'at', d.box -> 'reservedAt', 'open', null, 'undoneAt', null
  ),
  'meter', r.meter || jsonb_build_object('beforeMonthMicroUsd', greatest(
    0, (r.meter ->> 'spentMicroUsd')::bigint - round(r.months * (r.meter ->> 'monthlyMicroUsd')::bigint)::bigint
  ))
)
from reckoned r
where r.resource = d.resource;

update mirror m set view = (m.view::jsonb || jsonb_build_object('box', d.box))::json
from devboxes d
where m.kind = 'DevInstance' and m.name = d.resource and d.box is not null and m.view::jsonb -> 'box' <> 'null'::jsonb;
