// Bundles the page into the folder named by the first argument; run by ./build.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });

const common = { bundle: true, minify: true, target: "es2022", legalComments: "none", outdir: out };
// Charts are a chunk of their own: the page is there before it has loaded a grammar of graphics.
await build({ ...common, entryPoints: ["src/main.ts"], format: "esm", splitting: true });
await build({ ...common, entryPoints: ["src/style.css"] });
await copyFile("src/index.html", `${out}/index.html`);

// The frame is one file: a document without origin should not have to ask for anything. Its policy
// names its one script by hash, so that nothing which is put into it can run.
const inline = async (source) => {
  const made = await build({ ...common, entryPoints: [source], format: "iife", write: false });
  return made.outputFiles[0].text.trim();
};
const script = await inline("src/frame.ts");
const hash = `sha256-${createHash("sha256").update(script).digest("base64")}`;
const parts = { "%HASH%": hash, "%STYLE%": await inline("src/frame.css"), "%SCRIPT%": script };
const frame = await readFile("src/frame.html", "utf8");
await writeFile(`${out}/frame.html`, frame.replace(/%[A-Z]+%/g, (name) => parts[name]));
