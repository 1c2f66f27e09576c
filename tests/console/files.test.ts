import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  PART_BYTES,
  uploadInParts,
  type PartSteps,
  type SentParts,
} from '../../console/src/pages/files/upload-in-parts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('an upload in parts', () => {
  const file = new Blob([new Uint8Array(2 * PART_BYTES + 1)])
  const stepsOf = (fails: (sent: number) => Error | null) => {
    const kept: (SentParts | null)[] = []
    const sizes: number[] = []
    let completed: readonly string[] = []
    let begun = 0
    const steps: PartSteps = {
      begin: async () => ({ id: `upload_${(begun += 1)}`, expires_at: 3_600 }),
      send: async (_uploadId, part) => {
        const error = fails(sizes.length)
        sizes.push(part.size)
        if (error !== null) throw error
        return `part_${sizes.length}`
      },
      complete: async (_uploadId, partIds) => {
        completed = partIds
      },
      keep: (sent) => kept.push(sent),
      wait: async () => {},
      onProgress: () => {},
      isFinal: (error) => error instanceof RangeError,
      nowMs: () => 0,
    }
    return { steps, kept, sizes, completed: () => completed, begun: () => begun }
  }

  test('an upload tries a part again after a lost connection, and sends no other twice', async () => {
    const { steps, sizes, completed, kept } = stepsOf((sent) => (sent === 1 ? new TypeError('lost') : null))
    await uploadInParts(file, null, steps)
    expect(sizes).toEqual([PART_BYTES, PART_BYTES, PART_BYTES, 1])
    expect(completed()).toEqual(['part_1', 'part_3', 'part_4'])
    expect(kept.at(-1)).toBeNull()
  })

  test('an upload goes on behind what was sent before a reload, unless its hour is nearly over', async () => {
    const known = { uploadId: 'upload_0', expiresAtMs: 3_600_000, partIds: ['a', 'b'] }
    const one = stepsOf(() => null)
    await uploadInParts(file, known, one.steps)
    expect([one.sizes, one.completed(), one.begun()]).toEqual([[1], ['a', 'b', 'part_1'], 0])
    const late = stepsOf(() => null)
    await uploadInParts(file, { ...known, expiresAtMs: 1 }, late.steps)
    expect([late.sizes.length, late.begun()]).toEqual([3, 1])
  })

  test('an upload that the gateway refuses is forgotten and not repeated', async () => {
    const { steps, sizes, kept } = stepsOf(() => new RangeError('refused'))
    await expect(uploadInParts(file, null, steps)).rejects.toThrow('refused')
    expect([sizes.length, kept.at(-1)]).toEqual([1, null])
  })
})

describe.skipIf(NO_BROWSER !== null)('the files of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('files are uploaded, listed and deleted', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    await goto('/files')
    await page.getByText('No files yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Upload a file' }).first().click()
    const buffer = Buffer.from('some words')
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'words.txt', mimeType: 'text/plain', buffer })
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByRole('link', { name: 'words.txt' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'files')
    await page.getByRole('button', { name: 'Delete words.txt' }).click()
    await page.getByRole('button', { name: 'Delete the file' }).click()
    await page.getByText('No files yet').waitFor()
    await close()
  })
})
