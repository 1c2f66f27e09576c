import type { Home } from './run-parkway.ts'

const TWO_MODELS = ['-m', 'gpt-4o-mini', '-m', 'gpt-5.4', 'Why is the sky blue?']

/** Makes the runs that examples of the command line name. */
export function comparisonsOf(home: Pick<Home, 'run'>) {
  const compare = async (...words: readonly string[]): Promise<string> =>
    JSON.parse((await home.run(['compare', 'run', '--json', ...words])).stdout).id
  return {
    compareTwo: async () => ({ id: await compare(...TWO_MODELS) }),
    compareTwice: async () => {
      const before = await compare(...TWO_MODELS)
      return { id: await compare('--again', before), variables: { RUN_BEFORE: before } }
    },
    compareScored: async () => ({ id: await compare(...TWO_MODELS, '--score', 'exact=No.') }),
  }
}
