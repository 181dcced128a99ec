-- What a fact was judged by is kept with it: settle_devbox takes one argument more.
drop function if exists settle_devbox(
  text, bigint, text, bigint, bigint, json, text, text, text, text, jsonb, bigint, bigint, boolean, jsonb, json, json,
  timestamptz
);

-- A row knows what its machine does, what was asked for, and which rules were broken. Of one from before: what its state says.
update devboxes d set box = jsonb_build_object(
    'machine', case
      when d.box ->> 'state' = 'reserved' then null
      when d.box ->> 'state' = 'terminated' then 'gone'
      when 'stopped' in (d.box ->> 'state', d.box -> 'intent' ->> 'state') then 'down'
      else 'up' end,
    'machineSince', d.box -> 'stateSince', 'volumesGone', d.box ->> 'state' = 'terminated', 'strays', '[]'::jsonb,
    'starting', null, 'terminating', null, 'breaches', '[]'::jsonb, 'policy', '{}'::jsonb
  ) || d.box || jsonb_build_object(
    'capOverride', case when d.box -> 'capOverride' = 'true' then jsonb_build_object(
      'grantedAt', d.box -> 'stateSince',
      'expiresAt', to_char((now() + interval '7 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ) end
  )
where d.box is not null and not d.box ? 'machine';

-- What is shown of one holds its row: until the first pass over it the view of before would lack what is read of it.
update mirror m set view = (m.view::jsonb || jsonb_build_object('box', d.box))::json
from devboxes d
where m.kind = 'DevInstance' and m.name = d.resource and d.box is not null and m.view::jsonb -> 'box' <> 'null'::jsonb;

-- What an owner had is found when its resource is gone.
create index devbox_tombstones on devboxes (account, deleted_at desc) where deleted_at is not null and box is not null;
