import type { Reporter, TestModule } from 'vitest/node'

/** Names what failed once more at the end, where one long difference cannot hide the others, and what passed only when it was repeated. */
export default class FailuresAtTheEnd implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => [...failuresOf(module), ...repeatedOf(module)])
    if (lines.length > 0) process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}

function failuresOf(module: TestModule): string[] {
  const path = module.relativeModuleId
  const ofModule = module.errors().map((error) => `failed: ${path}: ${firstLine(error.message)}`)
  const ofHooks = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => `failed: ${path}: ${suite.fullName}: ${firstLine(error.message)}`),
  )
  const ofTests = [...module.children.allTests('failed')].map(
    (test) => `failed: ${path}: ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message)}`,
  )
  return [...ofModule, ...ofHooks, ...ofTests]
}

function repeatedOf(module: TestModule): string[] {
  return [...module.children.allTests('passed')]
    .filter((test) => test.diagnostic()?.flaky === true)
    .map(
      (test) =>
        `passed when repeated: ${module.relativeModuleId}: ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message)}`,
    )
}

function firstLine(message = 'no message'): string {
  return message.slice(0, 300).replace(/\n.*/s, '')
}
