import { expect, test } from 'vitest'
import {
  callContext,
  filesOf,
  imageWork,
  lookAt,
  mediaCall,
  sandboxInNoTime,
} from '../testing/media-client.ts'

/** Submits a picture as a job. `look` advances the time and polls the job. */
async function submit(directives: string, sandbox = sandboxInNoTime()) {
  const { provider, time } = sandbox
  const started = await provider.image.start(mediaCall(imageWork({ prompt: `A fox ${directives}` })))
  if (started.kind !== 'started') throw new Error('was done at once')
  // The job after it was stored as JSON and read back.
  const job = JSON.parse(JSON.stringify(started.job)) as typeof started.job
  const look = (afterMs: number, by = provider) => {
    time.nowMs += afterMs
    return lookAt(by.image, job)
  }
  return { provider, job, look, started, time }
}

test('a job runs for its time, reports its progress and completes', async () => {
  const { look, started } = await submit('[[sandbox:job ms=4000]]')
  expect(started.pollAfterMs).toBe(1000)
  expect(await look(0)).toMatchObject({ kind: 'running', progress: 0 })
  expect(await look(1000)).toMatchObject({ kind: 'running', progress: 0.25, pollAfterMs: 1000 })
  expect(await look(2900)).toMatchObject({ kind: 'running', pollAfterMs: 100 })
  expect(filesOf(await look(100))).toHaveLength(1)
})

test('any process finishes a job, with the same bytes', async () => {
  const { look } = await submit('[[sandbox:job ms=10]]')
  const elsewhere = sandboxInNoTime()
  elsewhere.time.nowMs += 10_000
  const there = await look(10, elsewhere.provider)
  expect(filesOf(there)).toEqual(filesOf(await look(10)))
})

test('submitting the same request again gives the same job', async () => {
  const sandbox = sandboxInNoTime()
  const first = await submit('[[sandbox:job ms=10]]', sandbox)
  const again = await submit('[[sandbox:job ms=10]]', sandboxInNoTime())
  expect(again.job.id).toBe(first.job.id)
})

test('a job fails, is lost or never ends when told to', async () => {
  const failing = await submit(
    '[[sandbox:job ms=100]] [[sandbox:job-fail percent=30 status=422 code=moderated]]',
  )
  expect(await failing.look(20)).toMatchObject({ kind: 'running' })
  await expect(failing.look(20)).rejects.toMatchObject({
    details: { status: 422, upstreamCode: 'moderated' },
  })
  const lost = await submit('[[sandbox:job-lost]]')
  await expect(lost.look(600)).rejects.toMatchObject({ details: { status: 404 } })
  const endless = await submit('[[sandbox:job-endless]]')
  expect(await endless.look(1e9)).toMatchObject({ kind: 'running', progress: 0.99 })
})

test('polling a job can fail a few times while the job continues', async () => {
  const { look } = await submit('[[sandbox:job ms=50]] [[sandbox:job-check status=502 times=2]]')
  await expect(look(10)).rejects.toMatchObject({ details: { status: 502 } })
  await expect(look(10)).rejects.toMatchObject({ details: { status: 502 } })
  expect(await look(10)).toMatchObject({ kind: 'running' })
  expect(await look(100)).toMatchObject({ kind: 'done' })
})

test('the files of a job can be invalid, once or always', async () => {
  const always = await submit('[[sandbox:job ms=0]] [[sandbox:garbage]]')
  expect(String(filesOf(await always.look(1))[0])).toContain('not JSON')
  expect(String(filesOf(await always.look(1))[0])).toContain('not JSON')
  const once = await submit('[[sandbox:job ms=0]] [[sandbox:empty times=1]]')
  expect(filesOf(await once.look(1))[0]).toHaveLength(0)
  expect(filesOf(await once.look(1))[0]?.length).toBeGreaterThan(100)
})

test('a cancelled job is gone, and cancelling it again is not an error', async () => {
  const { provider, job, look } = await submit('[[sandbox:job ms=50]]')
  await provider.image.cancel?.({ ...callContext(), job })
  await provider.image.cancel?.({ ...callContext(), job })
  await expect(look(100)).rejects.toMatchObject({ details: { status: 404 } })
})

test('a job whose submission was cut is found, one that was refused is not', async () => {
  const { provider, time } = sandboxInNoTime()
  const cut = mediaCall(imageWork({ prompt: '[[sandbox:cut times=1]] [[sandbox:job ms=10]]' }))
  await expect(provider.image.start(cut)).rejects.toMatchObject({ details: { failure: 'cut' } })
  const found = await provider.image.find?.(cut)
  expect(found).toMatchObject({ id: expect.stringMatching(/^job_/) as string })
  expect(await provider.image.start(cut)).toMatchObject({ kind: 'started', job: { id: found?.id } })
  time.nowMs += 10
  expect(found && filesOf(await lookAt(provider.image, found))).toHaveLength(1)
  const refused = mediaCall(imageWork({ prompt: '[[sandbox:refuse]] [[sandbox:job ms=10]]' }), {
    requestId: 'other',
  })
  await expect(provider.image.start(refused)).rejects.toMatchObject({ details: { failure: 'connect' } })
  expect(await provider.image.find?.(refused)).toBeNull()
})

test.for([
  { id: 'job_1' },
  { id: 'x', data: { started_ms: 'soon' } },
  { id: 'y', data: { started_ms: 1, recipe: {} } },
])('the job %o of another owner is unknown', async (job) => {
  const { provider } = sandboxInNoTime()
  await expect(lookAt(provider.image, job)).rejects.toMatchObject({
    details: { status: 404 },
  })
})
