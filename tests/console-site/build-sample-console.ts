import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectory } from '../support/remove-directory.ts'

export const PAGE = `<!doctype html><title>Console</title><script type="module" src="/assets/index-Ab1_-2.js"></script>
${'<!-- long enough to be compressed -->\n'.repeat(50)}`
export const SCRIPT = `export const text = '${'a script of the console '.repeat(100)}'\n`

export interface SampleConsole extends AsyncDisposable {
  readonly directory: string
  write(name: string, content: string | Buffer): Promise<void>
}

/** A directory as a build of the console leaves it, beside a file that must stay private. */
export async function buildSampleConsole(): Promise<SampleConsole> {
  const parent = await mkdtemp(join(tmpdir(), 'parkway-console-'))
  const directory = join(parent, 'dist')
  await mkdir(join(directory, 'assets', 'langs'), { recursive: true })
  const write = (name: string, content: string | Buffer): Promise<void> =>
    writeFile(join(directory, name), content)
  await writeFile(join(parent, 'secret.js'), 'a secret')
  await symlink(join(parent, 'secret.js'), join(directory, 'assets', 'linked.js'))
  await write('index.html', PAGE)
  await write('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await write('assets/index-Ab1_-2.js', SCRIPT)
  await write('assets/langs/go-Xy.js', 'export {}\n')
  await write('assets/picture-Cd3.png', Buffer.alloc(4000, 7))
  await write('assets/.hidden.js', 'a secret')
  return { directory, write, [Symbol.asyncDispose]: () => removeDirectory(parent) }
}
