-- What becomes of an operation is decided on its app's rows as they were read: the number rises with each decision, and one
-- that was made on rows of before is not stored. An app without a row is at 0.
create table app_revisions (
  app text primary key,
  rev bigint not null
);

-- They wrote without a look at the revision: an older version that is still running is refused from here on.
drop function if exists app_goes_live, app_lock, ask_app_operation, begin_app_operation, cancel_app_operation,
  claim_app_switch, end_app_operation, pass_app_step, retire_app_release;
