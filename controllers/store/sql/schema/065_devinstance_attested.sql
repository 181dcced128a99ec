-- When the latest report came that attests something: the same as before is no fact, and whoever stops attesting must not stay unseen.
alter table devbox_report_heads add column attested_at timestamptz(3);
