import { clientCommand } from '../client-command.ts'
import { shellAssignment } from '../output/shell-assignment.ts'

interface EnvOptions {
  readonly shell?: string
}

export const env = clientCommand<EnvOptions>({
  name: 'env',
  summary: 'Print the variables that SDKs read, for this gateway and key.',
  example: 'eval "$(parkway env)"',
  define: (command) => command.option('--shell <name>', 'sh, fish or powershell; by default that of SHELL'),
  async act({ output, isJson, connect, printJson }, { shell = process.env.SHELL ?? 'sh' }) {
    const { baseUrl, apiKey } = connect().connection
    const variables = {
      OPENAI_BASE_URL: `${baseUrl}/v1`,
      OPENAI_API_KEY: apiKey,
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      PARKWAY_BASE_URL: baseUrl,
      PARKWAY_API_KEY: apiKey,
    }
    if (isJson) return printJson(variables)
    for (const [name, value] of Object.entries(variables)) output.line(shellAssignment(shell, name, value))
  },
})
