/** A folder of files that a browser opens as they are. */
import { type Recogniser, written } from './project.ts'
import { STATIC_PORT, servedStage } from './served.ts'

export const recogniseStatic: Recogniser = (files) => {
  if (!files.paths.has('index.html')) return { missed: 'index.html at the root' }
  const notFound = files.paths.has('404.html') ? '404.html' : null
  return written(files, {
    kind: 'static',
    why: ['index.html lies at the root.', 'Its files are served as they are.'],
    port: STATIC_PORT,
    dockerfile: servedStage('. /srv/', { isOnePage: false, fixed: null, notFound }),
    ignored: ['node_modules', '.*'],
  })
}
