/** What is used of jq. The types of the package itself need those of browsers. */
declare module 'jq-wasm' {
  interface JqResult {
    readonly stdout: string
    readonly stderr: string
    readonly exitCode: number
  }
  interface Jq {
    raw(input: string, filter: string, flags: readonly string[]): JqResult
  }
  export function loadJq(): Promise<Jq>
}
