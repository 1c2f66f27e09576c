import type { ChildProcess } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const read = (name: string) => readFile(join(home.directory, name))
const countTasks = async (): Promise<number> =>
  (await gateway.request('GET', '/v1/tasks?limit=100')).body.data.length
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

describe('an image', () => {
  test('is saved where -o says, with its path and cost, and replaces no file without --force', async () => {
    const made = await home.run(['image', '-o', 'dusk.png', 'A lighthouse', 'at dusk'])
    expect([made.code, made.stdout]).toEqual([0, 'dusk.png\n'])
    expect(made.stderr).toMatch(/\$0\.\d+/)
    expect((await read('dusk.png')).subarray(0, 4)).toEqual(PNG)
    await writeFile(join(home.directory, 'dusk.png'), 'mine')
    const before = await countTasks()
    const refused = await home.run(['image', '-o', 'dusk.png', 'Another'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--force')])
    expect((await read('dusk.png')).toString()).toBe('mine')
    // Nothing was ordered, so that nothing is paid for.
    expect(await countTasks()).toBe(before)
    expect((await home.run(['image', '--force', '-o', 'dusk.png', 'Another'])).code).toBe(0)
    expect((await read('dusk.png')).subarray(0, 4)).toEqual(PNG)
  })

  test('is changed, enlarged and cut out', async () => {
    await home.run(['image', '-o', 'cup.png', 'A cup'])
    for (const words of [
      ['edit', '-i', 'cup.png', '-o', 'edited.png', '--', 'Make it blue'],
      ['upscale', '-o', 'large.png', 'cup.png'],
      ['bg-remove', '-o', 'alone.png', 'cup.png'],
    ]) {
      const { code, stderr } = await home.run(words)
      expect([words[0], code, stderr]).toEqual([words[0], 0, expect.stringContaining('$')])
    }
    for (const name of ['edited.png', 'large.png', 'alone.png'])
      expect((await read(name)).subarray(0, 4)).toEqual(PNG)
  })
})

test.each([
  ['image', '--count', 'two'],
  ['image', '--count', '0'],
  ['video', '--duration', '4s'],
  ['music', '--duration', ''],
  ['music', '--duration', '-1'],
])('%s with %s "%s" is refused, and nothing is ordered', async (command, option, value) => {
  const before = await countTasks()
  const { code, stdout, stderr } = await home.run([command, `${option}=${value}`, 'A tree'])
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`parkway: ${option} takes a `)])
  expect(await countTasks()).toBe(before)
})

describe('a task', () => {
  test('is printed with --no-wait, followed, shown and downloaded', async () => {
    const { stdout } = await home.run(['image', '--no-wait', 'A tree'])
    const id = stdout.trim()
    const followed = await home.run(['tasks', 'follow', id, '--json'])
    expect(JSON.parse(followed.stdout)).toMatchObject({ id, status: 'completed' })
    expect((await home.run(['tasks', 'show', id])).stdout).toMatch(/^status +completed$/m)
    const saved = await home.run(['tasks', 'download', id, '-o', 'tree.png'])
    expect([saved.stdout, (await read('tree.png')).subarray(0, 4)]).toEqual(['tree.png\n', PNG])
    expect((await home.run(['tasks'])).stdout).toContain(id)
    expect((await home.run(['tasks', '--limit', '200', '--json'])).stdout).toContain(id)
    expect((await home.run(['tasks', '--limit', 'all'])).code).toBe(2)
    expect((await home.run(['tasks', 'show', '01a1e900-0fc9-7eff-b14c-dd4471e0969d'])).code).toBe(4)
  })

  test('is printed with --no-wait and followed with --wait, in any combination', async () => {
    for (const flags of [['--wait', '--no-wait'], ['--no-wait', '--wait'], ['--no-wait']]) {
      const { code, stdout } = await home.run(['image', ...flags, 'A tree'])
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^[\da-f-]{36}\n$/)])
    }
    const followed = await home.run(['image', '--wait', '-o', 'waited.png', 'A tree'])
    expect([followed.code, followed.stdout]).toEqual([0, 'waited.png\n'])
  })

  test('is cancelled by an interruption, with the refund', async () => {
    let child: ChildProcess | undefined
    const running = home.run(['music', '-o', 'rain.mp3', '[[sandbox:hang]] rain'], {
      onStart: (started) => (child = started),
    })
    const id = await eventually(async () => {
      // Pictures of other tests may still be made.
      const { body } = await gateway.request('GET', '/v1/tasks?status=processing')
      const songs = body.data.filter((task: { task_type: string }) => task.task_type === 'music')
      expect(songs).toHaveLength(1)
      return songs[0].id
    })
    child?.kill('SIGINT')
    const { code, stderr } = await running
    expect([code, stderr]).toEqual([130, expect.stringMatching(/was cancelled\. \$\d/)])
    expect((await gateway.request('GET', `/v1/tasks/${id}`)).body.status).toBe('cancelled')
  })
})

describe('what it costs', () => {
  test('is the least among the models that can do it, and is asked about above an amount', async () => {
    const made = await home.run(['video', '-o', 'waves.mp4', '[[sandbox:job ms=0]] Waves'])
    expect(made.code).toBe(0)
    const [, cost = ''] = /\$(\d+\.\d+)$/m.exec(made.stderr) ?? []
    expect([made.stdout, Number(cost)]).toEqual(['waves.mp4\n', expect.closeTo(0.26, 2)])
    const before = await countTasks()
    const dear = await home.run(['video', '-m', 'veo-3.1', 'Waves'])
    expect([dear.code, dear.stdout, dear.stderr]).toEqual([
      2,
      '',
      'parkway: This would cost about $3.20, which is more than $0.50.\n  Agree with --yes, or set PARKWAY_ASK_ABOVE_USD to a higher amount.\n',
    ])
    expect(await countTasks()).toBe(before)
    const words = ['video', '-m', 'veo-3.1', '--duration', '4', '--resolution', '720p', '--no-audio']
    const cheaper = await home.run([...words, '--no-wait', 'Waves'], {
      environment: { PARKWAY_ASK_ABOVE_USD: '0.80' },
    })
    expect(cheaper.code).toBe(0)
    expect((await home.run([...words, '--no-wait', '--yes', 'Waves'])).code).toBe(0)
    expect((await home.run(['video', '--duration', '1000', 'Waves'])).stderr).toContain('for 1000 seconds')
  })

  test('is in the list of models, by the unit that is billed', async () => {
    const { stdout } = await home.run(['models', '--category', 'video'])
    expect(stdout).toMatch(/^veo-3\.1 .* from \$0\.20 per second$/m)
    expect((await home.run(['models', 'show', 'tts-1'])).stdout).toMatch(
      /^price +\$15\.00 per 1M characters$/m,
    )
  })
})

test('a video shows its progress, its cost and the time it takes at once, and a refund after one Ctrl-C that arrives twice', async () => {
  const terminal = startInTerminal(home, ['video', '[[sandbox:hang]] Waves'], { columns: 140 })
  await terminal.waitFor(/^[█░]{24} +\d+ % +[\w.-]+, about \$0\.26, \d+ s/m)
  await terminal.waitFor(/, [1-9] s/)
  terminal.type(`${KEY.interrupt}${KEY.interrupt}`)
  await terminal.waitFor(/was cancelled\. \$0\.26 of its hold was refunded/)
  expect(await terminal.ended()).toBe(130)
})

test('a text is spoken into a file, and the file is written down', async () => {
  const spoken = await home.run(['speak', '-o', 'hello.wav', '--format', 'wav'], {
    stdin: 'Hello and welcome',
  })
  expect([spoken.code, spoken.stdout]).toEqual([0, 'hello.wav\n'])
  expect((await read('hello.wav')).subarray(0, 4).toString()).toBe('RIFF')
  const written = await home.run(['transcribe', 'hello.wav'])
  expect([written.code, written.stdout]).toEqual([0, expect.stringMatching(/\w+/)])
  expect(JSON.parse((await home.run(['transcribe', '--json', 'hello.wav'])).stdout)).toHaveProperty('text')
  expect((await home.run(['transcribe', 'nowhere.wav'])).code).toBe(2)
})

test('a recording is written to stdout with -o -, and not to a terminal', async () => {
  const { code, stdout, stderr } = await home.run(['speak', '--format', 'wav', '-o', '-', 'Hello'])
  expect([code, stdout.slice(0, 4), stderr]).toEqual([0, 'RIFF', ''])
  const terminal = startInTerminal(home, ['speak', '-o', '-', 'Hello'])
  expect([await terminal.ended(), terminal.screen()]).toEqual([2, expect.stringContaining('cannot be shown')])
  const silent = startInTerminal(home, ['speak', '-o', 'silent.mp3'])
  expect([await silent.ended(), silent.screen()]).toEqual([2, expect.stringContaining('There is no text.')])
})

test('a directory that does not exist, and stdout for a picture, are refused before anything is ordered', async () => {
  const before = await countTasks()
  const nowhere = await home.run(['image', '-o', 'nowhere/', 'A cup'])
  expect([nowhere.code, nowhere.stderr]).toEqual([
    1,
    expect.stringContaining('There is no directory nowhere/.'),
  ])
  expect((await home.run(['image', '-o', '-', 'A cup'])).code).toBe(2)
  expect(await countTasks()).toBe(before)
})
