import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'

const ROOT = join(import.meta.dirname, '../..')
const DIRECTORY = join(ROOT, 'node_modules/.cache/program')

/** The program of `src/app/main.ts` in few files. Node starts it in half the time, because it finds and links 2,000 modules fewer. */
export const BUNDLED_PROGRAM = join(DIRECTORY, 'main.js')

/** Packages of many small modules, which find no file by their own place. */
const BUNDLED_PACKAGES = [/^typebox(\/|$)/, 'yaml']

/** Writes the bundle if it is missing or older than the source. */
export default async function bundleProgram(): Promise<void> {
  if (!isOutdated()) return
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    mode: 'test',
    plugins: [keepPlaces(), loadVocabularyLater()],
    ssr: { noExternal: BUNDLED_PACKAGES },
    build: {
      ssr: 'src/app/main.ts',
      target: 'esnext',
      minify: false,
      outDir: DIRECTORY,
      // Programs of another run may still load files of the bundle before.
      emptyOutDir: false,
      rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
    },
  })
}

/** Modules find files and threads beside their source, wherever the bundle is. Processes of a gateway start from the bundle too. */
function keepPlaces(): Plugin {
  return {
    name: 'keep-places',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: 'import.meta' },
      handler: (code, id) =>
        code
          .replaceAll(
            "new URL('../main.ts', import.meta.url)",
            `new URL(${literal(pathToFileURL(BUNDLED_PROGRAM).href)})`,
          )
          .replaceAll('import.meta.url', literal(pathToFileURL(id).href))
          .replaceAll('import.meta.dirname', literal(dirname(id))),
    },
  }
}

/** Most processes of tests count no tokens, and loading the vocabulary is a quarter of their start. The first use loads it. */
function loadVocabularyLater(): Plugin {
  return {
    name: 'load-vocabulary-later',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/app\/process\/load-gateway\.ts$/ },
      handler: (code) => {
        const later = code.replace(/^ *loadTokenEncoding\(\)\n/m, '')
        if (later === code) throw new Error('load-gateway.ts no longer loads the vocabulary')
        return later
      },
    },
  }
}

const literal = (text: string): string => JSON.stringify(text)

function isOutdated(): boolean {
  const built = statSync(BUNDLED_PROGRAM, { throwIfNoEntry: false })
  if (built === undefined) return true
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
  const causes = [...sources, 'package-lock.json', 'tests/support/bundle-program.ts']
  return causes.some((path) => statSync(join(ROOT, path)).mtimeMs > built.mtimeMs)
}
