/** GET …/schedules: what is run at times of day, when it is due next, and what became of the last runs. */
import { RUNS_KEPT } from '../../../crds/app/runs/run.ts'
import { viewSchedule } from '../../../crds/app/runs/view.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

export const getSchedules = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, view } = await apps.find(deps, request)
  const runs = await deps.runs.scheduled(name)
  const schedules = view.schedules.map((schedule) =>
    viewSchedule(schedule, runs.filter((run) => run.schedule === schedule.name).slice(0, RUNS_KEPT), deps.now()),
  )
  return { status: 200, body: { schedules } }
}
