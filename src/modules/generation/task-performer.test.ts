import { describe, expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import type { MediaProgress, MediaStart } from '../../providers/media/media-operation.ts'
import type { StoredJob } from '../tasks/tasks.ts'
import { claimTask, createControl, createStage, upstreamError } from './testing/generation-stage.ts'

const film = Buffer.from('film')
const done = {
  kind: 'done',
  output: { files: [{ kind: 'bytes', bytes: film, contentType: 'video/mp4' }] },
} as const
const started = (id: string): MediaStart => ({ kind: 'started', job: { id }, pollAfterMs: 100 })
const running: MediaProgress = { kind: 'running', progress: 0.5 }
const job = (id: string, provider = 'first'): StoredJob => ({
  provider,
  upstreamModel: 'film-1',
  job: { id },
})

/** Returns the steps one after the other; repeats the last one. */
function inTurn<Result>(...steps: (Result | Error)[]): () => Promise<Result> {
  let next = 0
  return async () => {
    const step = steps[Math.min(next, steps.length - 1)]
    next += 1
    if (step === undefined) throw new Error('no steps')
    if (step instanceof Error) throw step
    return step
  }
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  return error instanceof AppError ? error.code : error
}

describe('a task', () => {
  test('is submitted, its job stored, polled until done, and its file stored and priced', async () => {
    const check = inTurn<MediaProgress>(running, running, { ...done, output: { ...done.output, seconds: 4 } })
    const { performer, media } = createStage({ first: { start: inTurn(started('j1')), check } })
    const { control, notes } = createControl()
    const outcome = await performer.perform(claimTask(), control)
    expect(notes).toEqual(['submitting to first', 'job j1', 'progress 0.5', 'progress 0.5'])
    const [id] = media.files.keys()
    expect(outcome).toEqual({
      result: { created: 1_700_000_000, data: [{ media_id: id }] },
      usage: { seconds: 4, cost_usd: 0.4 },
      costNanoUsd: 400_000_000n,
      counted: 'u+4000',
      provider: 'first',
    })
  })

  test('goes to the next upstream if the first refuses it', async () => {
    const refuse = inTurn<MediaStart>(upstreamError('first', { failure: 'connect' }))
    const { performer } = createStage({
      first: { start: refuse },
      second: { start: inTurn<MediaStart>(done) },
    })
    const { control, notes } = createControl()
    expect((await performer.perform(claimTask(), control)).provider).toBe('second')
    expect(notes.slice(0, 3)).toEqual(['submitting to first', 'refused', 'submitting to second'])
  })

  test('with a job is not submitted again', async () => {
    const start = inTurn<MediaStart>(new Error('submitted twice'))
    const { performer } = createStage({ first: { start, check: inTurn<MediaProgress>(running, done) } })
    const { control, notes } = createControl()
    await performer.perform(claimTask({ job: job('j1'), attempt: 2 }), control)
    expect(notes).toEqual(['progress 0.5'])
  })

  test('a task whose submission was cut off is found if the upstream supports a lookup', async () => {
    const start = inTurn<MediaStart>(new Error('submitted twice'))
    const find = async () => ({ id: 'j7' })
    const { performer } = createStage({ first: { start, find, check: inTurn<MediaProgress>(done) } })
    const { control, jobs } = createControl()
    const submittingTo = { provider: 'first', upstreamModel: 'film-1' }
    await performer.perform(claimTask({ submittingTo }), control)
    expect(jobs).toEqual([job('j7')])
  })

  test('a task whose submission was cut off is submitted again, to the same upstream, if there is no such job', async () => {
    const { performer } = createStage({
      first: { start: inTurn<MediaStart>(new Error('another upstream')) },
      second: { start: inTurn<MediaStart>(done), find: async () => null },
    })
    const { control } = createControl()
    const submittingTo = { provider: 'second', upstreamModel: 'film-2' }
    const outcome = await performer.perform(claimTask({ submittingTo }), control)
    expect(outcome.provider).toBe('second')
  })

  test('a task whose submission got no answer is looked up before another upstream is tried', async () => {
    const start = inTurn<MediaStart>(upstreamError('first', { failure: 'cut' }))
    const find = async () => ({ id: 'j8' })
    const { performer } = createStage({
      first: { start, find, check: inTurn<MediaProgress>(done) },
      second: {},
    })
    const { control, jobs } = createControl()
    await performer.perform(claimTask(), control)
    expect(jobs).toEqual([job('j8')])
  })

  test('survives an upstream that cannot be reached for a while', async () => {
    const away = upstreamError('first', { status: 503 })
    const check = inTurn<MediaProgress>(away, away, away, done)
    const { performer } = createStage({ first: { check } })
    const { control } = createControl()
    expect((await performer.perform(claimTask({ job: job('j1') }), control)).provider).toBe('first')
  })

  test('fails if the upstream cannot be reached for minutes', async () => {
    const { performer } = createStage({
      first: { check: inTurn<MediaProgress>(upstreamError('first', { failure: 'connect' })) },
    })
    const { control } = createControl()
    expect(await codeOf(performer.perform(claimTask({ job: job('j1') }), control))).toBe('provider_error')
  })

  test('fails if the job failed, in the words of the upstream if the request is at fault', async () => {
    const refused = upstreamError('first', { status: 422, hasJobEnded: true, upstreamMessage: 'Too wild.' })
    const { performer } = createStage({
      first: { start: inTurn(started('j')), check: inTurn<MediaProgress>(refused) },
    })
    const { control } = createControl()
    await expect(performer.perform(claimTask(), control)).rejects.toThrow('Too wild.')
  })

  test('a task whose job is lost fails and is not submitted again', async () => {
    const start = inTurn<MediaStart>(new Error('submitted twice'))
    const lost = upstreamError('first', { status: 404, hasJobEnded: true })
    const { performer } = createStage({ first: { start, check: inTurn<MediaProgress>(lost) } })
    const { control } = createControl()
    expect(await codeOf(performer.perform(claimTask({ job: job('j1') }), control))).toBe('provider_error')
  })

  test('without any output fails', async () => {
    const empty: MediaProgress = { kind: 'done', output: { files: [] } }
    const { performer } = createStage({ first: { check: inTurn(empty) } })
    const { control } = createControl()
    expect(await codeOf(performer.perform(claimTask({ job: job('j1') }), control))).toBe('provider_error')
  })

  test('waits for a slot at its upstreams', async () => {
    const busy = upstreamError('first', { status: 429, retryAfterSeconds: 20 })
    const { performer, pauses } = createStage({ first: { start: inTurn<MediaStart>(busy, done) } })
    const { control } = createControl()
    await performer.perform(claimTask(), control)
    expect(pauses).toContain(20_000)
  })

  test('ends and says when to try again if its upstreams ask for a long pause', async () => {
    const busy = upstreamError('first', { status: 429, retryAfterSeconds: 90 })
    const { performer, pauses } = createStage({ first: { start: inTurn<MediaStart>(busy, done) } })
    const { control } = createControl()
    await expect(performer.perform(claimTask(), control)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('Try again in 90 seconds.'),
    })
    expect(pauses).toEqual([])
  })

  test('gets a new address of its result if the first has expired', async () => {
    const at = (url: string): MediaProgress => ({ kind: 'done', output: { files: [{ kind: 'url', url }] } })
    const check = inTurn(at('https://up/old'), at('https://up/new'))
    const { performer, media } = createStage({ first: { check } })
    media.addresses.set('https://up/new', film)
    const { control } = createControl()
    await performer.perform(claimTask({ job: job('j1') }), control)
    expect(media.fetched).toEqual(['https://up/old', 'https://up/new'])
  })

  test('a task whose result cannot be fetched fails and leaves no file', async () => {
    const files = [
      { kind: 'bytes', bytes: film, contentType: 'video/mp4' },
      { kind: 'url', url: 'https://up/x' },
    ] as const
    const { performer, media } = createStage({
      first: { check: inTurn<MediaProgress>({ kind: 'done', output: { files } }) },
    })
    const { control } = createControl()
    expect(await codeOf(performer.perform(claimTask({ job: job('j1') }), control))).toBe('provider_error')
    expect(media.files.size).toBe(0)
  })

  test('costs what was made, even if less is held', async () => {
    const output = { ...done.output, seconds: 50 }
    const { performer } = createStage({ first: { check: inTurn<MediaProgress>({ kind: 'done', output }) } })
    const { control } = createControl()
    const outcome = await performer.perform(claimTask({ job: job('j'), holdNanoUsd: 300_000_000n }), control)
    expect(outcome.costNanoUsd).toBe(5_000_000_000n)
  })

  test('a task that is cancelled ends with the reason, and its job is cancelled if the upstream supports it', async () => {
    const cancelled: string[] = []
    const { control } = createControl()
    const reason = new Error('nobody wants it')
    const check = async (): Promise<MediaProgress> => {
      control.cancellation.cancel(reason)
      return running
    }
    const cancel = async (call: { job: { id: string } }) => void cancelled.push(call.job.id)
    const { performer } = createStage({ first: { check, cancel } })
    const task = claimTask({ job: job('j1') })
    expect(await codeOf(performer.perform(task, control))).toBe(reason)
    await performer.cancelJob(task)
    await performer.cancelJob(claimTask({ job: job('j1', 'gone') }))
    expect(cancelled).toEqual(['j1'])
  })

  test('a task whose upstream cannot cancel is left running', async () => {
    const cancel = () => Promise.reject(upstreamError('first', {}))
    const { performer } = createStage({ first: { cancel } })
    await expect(performer.cancelJob(claimTask({ job: job('j1') }))).resolves.toBeUndefined()
  })

  test('a task whose providers are no longer configured names the requested id', async () => {
    const { performer } = createStage({})
    const { control } = createControl()
    const task = claimTask({ requestedModel: 'film-of-old' })
    await expect(performer.perform(task, control)).rejects.toThrow(/'film-of-old'/)
  })

  test('a task of a removed model or provider fails', async () => {
    const { performer } = createStage({ first: {} })
    const { control } = createControl()
    expect(await codeOf(performer.perform(claimTask({ model: 'gone' }), control))).toBe('model_not_found')
    const task = claimTask({ job: job('j1', 'gone') })
    expect(await codeOf(performer.perform(task, control))).toBe('provider_error')
  })

  test('stored by a newer version is returned for another worker', async () => {
    const { performer } = createStage({ first: {} })
    const { control } = createControl()
    const error = await codeOf(performer.perform(claimTask({ work: { work: { kind: 'dance' } } }), control))
    expect(error).toBeInstanceOf(Error)
  })
})
