-- Whom an app lets in, as what is open at it was ended for last (crds/app/lifecycle/publishing/open.ts); null before anybody looked.
alter table app_routes add column let_in jsonb;
