-- What was deleted and is seen again counts against its owner's cap: there are few of them, and each reservation asks.
create index devbox_seen_again on devboxes (account) where deleted_at is not null and committed_micro_usd > 0;

-- A row keeps what was launched. Of one from before nobody kept it: it is priced as it was reserved until it is told.
update devboxes d set box = '{"launched": null}'::jsonb || d.box where d.box is not null and not d.box ? 'launched';
update mirror m set view = (m.view::jsonb || jsonb_build_object('box', d.box))::json
from devboxes d
where m.kind = 'DevInstance' and m.name = d.resource and d.box is not null and m.view::jsonb -> 'box' <> 'null'::jsonb;
