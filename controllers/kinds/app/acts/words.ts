/** What the steps of an app say of themselves, in words for people (rules/app.md#progress). */
import { imageRequests, type SealedRelease } from '../../../../crds/app/sealed.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'

const BYTES_PER_MB = 1_000_000

const mb = (bytes: number): string => (bytes / BYTES_PER_MB).toFixed(1)
const several = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

export const uploadedWords = (sent: number, bytes: number): string => `${mb(sent)} of ${mb(bytes)} MB are on the host`

const imagesOf = (sealed: SealedRelease) => {
  const requests = imageRequests(sealed)
  const count = (how: string): number => requests.filter((request) => request.how === how).length
  return { build: count('build'), pull: count('pull'), pinned: count('pinned') }
}

export const checkedWords = (sealed: SealedRelease): string => {
  const { build, pull, pinned } = imagesOf(sealed)
  const images = pinned > 0 ? `${several(pinned, 'image')} of before` : `${build} to build, ${pull} to pull`
  return `${several(sealed.project.services.length, 'service')}, ${images}`
}

export const imagesWords = (sealed: SealedRelease): string => {
  const { build, pull, pinned } = imagesOf(sealed)
  return pinned > 0 ? `${several(pinned, 'image')} of before` : `${several(build, 'image')} built, ${pull} pulled`
}

/** What a pass is at, for who reads the status while it lasts. */
const DOING: Record<AppStep['do'] | 'observe' | 'plan', string> = {
  observe: 'Its host is being asked how it runs.',
  plan: 'What is to be done next is being decided.',
  takeSlug: 'It takes its name on the host.',
  takePreview: 'It is entered among the previews of its app.',
  deletePreview: 'A preview is being deleted.',
  endPreview: 'It is on record that nothing of the preview is left.',
  ask: 'What its spec asks for is being taken up.',
  takeRoom: 'Its budget takes room on the host.',
  applyBudget: 'What runs is given its budget.',
  begin: 'A release begins.',
  claimNames: 'Its domains become its own to prove.',
  releaseNames: 'Domains that it names no longer are given back.',
  passPreRelease: 'What is run before the release has ended well.',
  askRun: 'A command is being taken up.',
  beginRun: 'A command begins.',
  startRun: 'The host is being told to run a command.',
  markSchedules: 'The next times of its schedules are being written down.',
  wakeAt: 'Its next look is being written down.',
  followRun: 'What a command prints is being read.',
  endRun: 'A command has ended.',
  cancelRun: 'A command is being stopped.',
  dropRun: 'What is left of a command on the host is being removed.',
  beginBackup: 'A backup begins.',
  layBackup: 'A backup is on its way to the host.',
  startBackup: 'The host is being told to keep what a volume holds.',
  notePacked: 'What a volume holds is packed.',
  takeBackup: 'What a volume held is on its way into the store.',
  putBack: 'A volume is being given back what it held before.',
  cancelBackup: 'A backup is being stopped.',
  endBackup: 'A backup has ended.',
  dropBackup: 'What is left of a backup on the host is being removed.',
  check: 'The compose file is being checked against the host.',
  upload: 'The files are on their way to the host.',
  startJob: 'The host is being told to begin.',
  keepLog: 'The host is at work; its log is being read.',
  takeImages: 'The images are there and are being written down.',
  takeAddress: 'The release answers.',
  claimSwitch: 'Visitors are about to be sent to the new release.',
  setRoute: 'Visitors are being sent to the new release; a first one waits for its certificate.',
  endOpen: 'What is open at it by who may not see it any more is being ended.',
  goLive: 'The release goes live.',
  takePlace: 'Its name and its room on the other host are being taken.',
  placeRoute: 'The other host is being told of it, and gets its certificate.',
  holdVolumes: 'The host that it leaves is being told to stop it, and to pack what it keeps.',
  carryVolumes: 'What it keeps is on its way to the other host.',
  placeVolumes: 'What it keeps is being put into its volumes there.',
  passVolumes: 'What it keeps is on the other host.',
  undoMove: 'What was begun on the other host is ended, and it is started again where it was.',
  leaveHold: 'The host that it leaves is being told never to start it again.',
  keepThere: 'The other host is being told to keep it.',
  forward: 'The host that it leaves is being told to send its visitors on.',
  leavePlace: 'What is left of it on a host that it has left is being removed.',
  beginScale: 'It is about to be scaled.',
  grown: 'What was added answers.',
  scaled: 'It is scaled.',
  dropReplicas: 'Replicas that nobody is on are being taken away.',
  cutStreams: 'WebSockets on the release before are being cut.',
  cancelJob: 'What the host is at is being stopped.',
  end: 'The operation ends.',
  takeDown: 'A release that is over is being taken down.',
  retire: 'A release that is over is gone.',
  noteUnhealthy: 'What is not well is being written down.',
  mend: 'What is not well is being put right.',
  noteRecovered: 'That it is well again is being written down.',
  returnTo: 'Visitors are being sent back to the release before.',
  fetchLogs: 'Its log is being read for somebody.',
  removeRoute: 'Its route is being removed.',
  clear: 'It is being removed from its host.',
  forget: 'What is known of it is being forgotten.',
}

export const doingWords = (stage: string): string | undefined =>
  Object.hasOwn(DOING, stage) ? DOING[stage as keyof typeof DOING] : undefined
