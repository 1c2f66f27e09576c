import { describe, expect, it } from 'vitest'
import { NotToml, setTable, setTopLevelString } from '../../../cli/connect/edit/edit-toml.ts'

const FILE = `# mine
model = "o3" # the old one
notify = [
  "a = [",
]
text = """
model_provider = "not this"
[model_providers.parkway]
"""

# tools
[mcp_servers.x]
model_provider = "nor this"
`

describe('setTopLevelString', () => {
  it('replaces the value of a key and keeps its comment', () => {
    expect(setTopLevelString(FILE, 'model', 'gpt-5')).toBe(FILE.replace('"o3"', '"gpt-5"'))
  })

  it('adds a key before the first table, behind values of several lines', () => {
    expect(setTopLevelString(FILE, 'model_provider', 'parkway')).toBe(
      FILE.replace('"""\n\n# tools', '"""\nmodel_provider = "parkway"\n\n# tools'),
    )
  })

  it('adds a key to an empty file, and before a file that begins with a table', () => {
    expect(setTopLevelString('', 'a', 'b')).toBe('a = "b"\n')
    expect(setTopLevelString('[t]\r\nx = 1\r\n', 'a', 'b"')).toBe('a = "b\\""\r\n\r\n[t]\r\nx = 1\r\n')
  })

  it('refuses to replace a value of several lines', () => {
    expect(() => setTopLevelString(FILE, 'text', 'x')).toThrow(NotToml)
  })
})

describe('setTable', () => {
  it('is added at the end', () => {
    expect(setTable(FILE, 'model_providers.parkway', { name: 'P' })).toBe(
      `${FILE}\n[model_providers.parkway]\nname = "P"\n`,
    )
    expect(setTable('', 't.u', { a: 'b' })).toBe('[t.u]\na = "b"\n')
  })

  it('replaces the table, and neither its neighbours nor the comments before them', () => {
    const text = '[model_providers."parkway"] # x\nname = "old"\n\nenv_key = "K"\n\n# next\n[other]\na = 1\n'
    expect(setTable(text, 'model_providers.parkway', { name: 'P' })).toBe(
      '[model_providers.parkway]\nname = "P"\n\n# next\n[other]\na = 1\n',
    )
  })

  it.each([
    'model_providers.parkway.name = "x"\n',
    'model_providers = { parkway = { name = "x" } }\n',
    '[model_providers]\nparkway = { name = "x" }\n',
    '[model_providers]\nparkway.name = "x"\n',
  ])('refuses a table in another form: %j', (text) => {
    expect(() => setTable(text, 'model_providers.parkway', { name: 'P' })).toThrow(NotToml)
  })
})
