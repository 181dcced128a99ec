-- The site is gone: it gives back its names and its place. What was converted from the same pictures serves others.
-- What visitors wrote goes with the site.
create or replace function forget_site(in_lease text, in_epoch bigint, in_site text) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  delete from site_queue q where q.site = in_site;
  perform free_site_names(in_site, '{}', true);
  delete from site_renderings r where r.site = in_site;
  delete from site_words w where w.site = in_site;
  delete from site_provenances p where p.site = in_site;
  delete from site_places p where p.site = in_site;
  delete from site_visitors v where v.site = in_site;
  delete from site_day_names n where n.site = in_site;
  delete from site_days d where d.site = in_site;
  perform drop_site_messages(array(select m.id from site_messages m where m.site = in_site));
end
$$;
