import { describe, expect, test } from 'vitest'
import { writeSandboxCommand } from './engine-sandbox.ts'

const write = (given: object = {}) =>
  writeSandboxCommand(
    '/usr/bin/bwrap',
    {
      work: '/data/engines/instances/1/work',
      temporary: ['/tmp'],
      hidden: ['/data', '/run'],
      readable: ['/data/models/tiny', '/opt/engine'],
      writable: ['/srv/hub'],
      devices: ['/dev/nvidia0'],
      ...given,
    },
    ['engine', '--port=1'],
  ).join(' ')

describe('the command of a sandbox', () => {
  test('shows the system read-only, hides the data directory, and lets the engine write its own directories', () => {
    const command = write()
    for (const part of [
      '--ro-bind / /',
      '--tmpfs /data',
      '--tmpfs /run',
      '--ro-bind /data/models/tiny /data/models/tiny',
      '--bind /data/engines/instances/1/work /data/engines/instances/1/work',
      '--bind /data/engines/instances/1/work /tmp',
      '--bind /srv/hub /srv/hub',
      '--remount-ro /data',
      '--dev-bind-try /dev/nvidia0 /dev/nvidia0',
    ])
      expect(command).toContain(part)
    // Hidden first: a later mount would cover what is shown below it.
    expect(command.indexOf('--tmpfs /data')).toBeLessThan(command.indexOf('--ro-bind /data/models'))
    // A directory that is not hidden is shown as part of the system.
    expect(command).not.toContain('/opt/engine')
    expect(command).toMatch(/ -- engine --port=1$/)
  })

  test('keeps the network, on which the engine listens, and nothing else of the machine', () => {
    expect(write()).not.toContain('--unshare-net')
    for (const name of ['user', 'pid', 'ipc', 'uts']) expect(write()).toContain(`--unshare-${name}`)
  })
})
