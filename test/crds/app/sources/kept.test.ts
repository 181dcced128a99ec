import { KEPT_RELEASES, keptImages, restorableOf } from '../../../../crds/app/sources/kept.ts'
import { viewApp } from '../../../../crds/app/view.ts'
import { anApp, aRelease, aWorld } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const built = (number: number, change: Parameters<typeof aRelease>[1] = {}) => {
  const images = [{ service: 'web', name: `bottega.local/shop/web:${number}`, id: `sha256:${number}` }]
  return aRelease(number, { state: 'superseded', record: { images }, ...change })
}

spec('a release of before', (t) => {
  const newest = Array.from({ length: KEPT_RELEASES + 2 }, (_, place) => built(KEPT_RELEASES + 2 - place))
  const releases = newest.map((one) => (one.number === 1 ? { ...one, state: 'live' as const } : one))
  const kept = new Set(keptImages(releases))
  const told = (number: number, change = {}) =>
    restorableOf({ ...(releases.find((one) => one.number === number) ?? built(number)), ...change }, kept)

  t('can be rolled back to while its images stay: those of the newest six, and of the live one', () => {
    assert.equal(
      [8, 7, 6, 5, 4, 3, 2, 1].filter((number) => told(number).image),
      [8, 7, 6, 5, 4, 3, 1],
    )
    assert.is(told(8).reason, null)
  })

  t('whose images are gone is built again, as long as its upload is kept', () => {
    assert.equal(told(2), {
      image: false,
      source: true,
      reason: 'Its images are no longer kept on the host; its upload is: roll back with rebuild: true.',
    })
    assert.match(told(2, { sourceKept: false }).reason ?? '', 'its upload is gone: upload it again')
  })

  t('that was never started has no images to go back to', () => {
    assert.match(told(8, { record: null }).reason ?? '', 'It was never started; its upload is')
  })

  t('of images from a registry stays: they are not ours to remove', () => {
    const images = [{ service: 'web', name: 'docker.io/library/nginx:1', id: 'sha256:old' }]
    assert.is(told(2, { record: { images } }).image, true)
  })

  t('is told so in the app', () => {
    const plan = { status: {}, verdict: { state: 'ready', reason: '', message: '' } } as const
    const view = viewApp(anApp(), aWorld({ releases: [built(2, { state: 'live' }), built(1)] }), plan)
    assert.equal(
      view.releases.map(({ restorable }) => restorable.image),
      [true, true],
    )
  })
})
