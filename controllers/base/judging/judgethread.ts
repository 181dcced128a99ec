/** A thread that judges one compose file after another (judge.ts). */
import { envFilesOf, judgeCompose, recipesOf } from '../../../crds/app/compose/judge.ts'
import { serveThread } from '../threads/serve.ts'
import type { JudgeAnswer, JudgeJob } from './judge.ts'

serveThread(
  ({ ask, source, deployTarget }: JudgeJob): JudgeAnswer =>
    ask === 'verdict'
      ? { verdict: judgeCompose(source, deployTarget) }
      : { namedFiles: [...envFilesOf(source, deployTarget), ...recipesOf(source, deployTarget)] },
)
