-- One at a time numbers the operations and the releases of an app.
create or replace function app_lock(in_app text) returns void
language sql volatile
return pg_advisory_xact_lock(hashtextextended('app/' || in_app, 0));
