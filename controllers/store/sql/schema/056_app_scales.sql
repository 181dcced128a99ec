-- A scale is an operation of the release that is live, and makes none.
alter table app_operations drop constraint app_operations_kind_check;
alter table app_operations
  add constraint app_operations_kind_check check (kind in ('deploy', 'rollback', 'env', 'scale'));
