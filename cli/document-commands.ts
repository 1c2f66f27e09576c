import { Command } from 'commander'
import { CLIENT_COMMANDS } from './client-commands.ts'

const WIDTH = 100

const INTRODUCTION = `# The command line

\`parkway\` is one program: the commands of the operator (see [operations](operations.md)) and a client for everybody who uses a
gateway. In a checkout it is \`npx parkway\`. The client talks to the HTTP API only.

Data goes to stdout, everything else to stderr. \`--json\` prints exactly the JSON of the API, lists as JSON lines.
\`--jq\` filters it with jq, and \`--template\` prints it by a template: see [output for scripts](cli-output.md). Colour is used
only on a terminal, and not with \`NO_COLOR\`. \`--wait\` waits for rate limits up to ten minutes in all. Profiles are in \`~/.config/parkway/profiles.json\`, readable only for their user.
An id may be given by its beginning, of at least four digits, if no other one begins so. On a terminal tables show ids so, and how long ago something was;
in a pipe they have whole ids and times.
The last 1,000 prompts of conversations are in \`~/.local/state/parkway/chat-history\`, likewise.

| variable | |
|---|---|
| \`PARKWAY_PROFILE\` | The profile to use. |
| \`PARKWAY_API_KEY\` | A key to use instead of a profile. |
| \`PARKWAY_BASE_URL\` | The address of the gateway, instead of that of the profile. |
| \`PARKWAY_MODEL\` | The model of \`chat\`. |
| \`PARKWAY_ASK_ABOVE_USD\` | Work that costs more is asked about first; without a terminal it needs \`--yes\`. By default 0.50. |
| \`PARKWAY_PICTURES\` | How \`--show\` shows pictures: \`kitty\`, \`iterm\`, \`sixel\` or \`none\`. By default the terminal's variables tell. |

| exit code | |
|---|---|
| 0 | Done. |
| 1 | Failed. |
| 2 | The words of the command are wrong. |
| 3 | Not signed in, or the key is not valid. |
| 4 | Not found. |
| 5 | No credit. |
| 6 | Limited: too many requests. |
| 7 | The gateway does not answer. |
| 130 | Interrupted. |
`

/** Returns docs/cli.md, made from the help of the commands. \`node cli/document-commands.ts > docs/cli.md\` writes it. */
export async function documentCommands(): Promise<string> {
  const commands = await Promise.all(Object.values(CLIENT_COMMANDS).map((load) => load()))
  // The parent gives the usage lines their first word.
  const program = new Command('parkway')
  for (const command of commands) program.addCommand(command)
  return [INTRODUCTION, ...commands.flatMap((command) => document(command, 'parkway'))].join('\n')
}

function document(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`
  let help = ''
  command.configureOutput({ writeOut: (part) => (help += part), getOutHelpWidth: () => WIDTH })
  command.outputHelp()
  const children = command.commands.flatMap((child) => document(child, name))
  return [`## ${name}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`, ...children]
}

if (import.meta.main) process.stdout.write(await documentCommands())
