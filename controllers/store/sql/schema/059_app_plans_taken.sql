-- When an apply took a plan: whoever took it and wrote nothing was lost on the way.
alter table app_plans add column taken_at timestamptz(3);
update app_plans set taken_at = coalesce(applied_at, created_at) where operation is not null;
