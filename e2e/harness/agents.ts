// The real Copilot and Codex CLIs, without an account and without a network: a scripted model is behind each.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workspace } from "./binaries";

interface Real {
  /** Sections of the person's own settings. */
  config: string;
  /** What the server passes on. */
  env: NodeJS.ProcessEnv;
}

export function realAgents(directory: string, modelUrl: string): Real {
  const program = (name: string) => join(workspace, `tests/${name}/node_modules/.bin/${name}`);
  const codexHome = join(directory, "codex");
  // Codex puts no helper programs below a directory for temporary files, so it is told of another one.
  const temporary = join(codexHome, "tmp");
  mkdirSync(temporary, { recursive: true });
  const provider = `name = "Scripted"\nbase_url = "${modelUrl}"\nwire_api = "responses"\nrequires_openai_auth = false\n`;
  const own = `model = "codex"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n`;
  writeFileSync(join(codexHome, "config.toml"), `${own}[model_providers.scripted]\n${provider}`);
  const text = JSON.stringify;
  const environment = `{ CODEX_HOME = ${text(codexHome)}, TMPDIR = ${text(temporary)} }`;
  return {
    config: `[agents.codex]
title = "Codex"
dialect = "codex"
command = ${text(program("codex"))}
args = ["app-server"]
env = ${environment}
`,
    env: {
      VOXPILOT_COPILOT_CLI_PATH: program("copilot"),
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: modelUrl,
      COPILOT_PROVIDER_API_KEY: "not-a-real-key",
      COPILOT_MODEL: "coder",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_HOME: join(directory, "copilot"),
    },
  };
}
