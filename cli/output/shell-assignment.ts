/** Returns the line that sets a variable in a shell, which is named by its path or its name. */
export function shellAssignment(shell: string, name: string, value: string): string {
  if (shell.endsWith('fish')) return `set -gx ${name} '${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
  if (/powershell|pwsh/i.test(shell)) return `$env:${name} = '${value.replaceAll("'", "''")}'`
  return `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`
}
