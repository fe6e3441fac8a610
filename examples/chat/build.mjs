// Bundles the page into the folder named by the first argument; run by ./build.
import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });

const common = { bundle: true, minify: true, target: "es2022", legalComments: "none", outdir: out };
// Charts are a chunk of their own: the page is there before it has loaded a grammar of graphics.
await build({ ...common, entryPoints: ["src/main.ts"], format: "esm", splitting: true });
// No module: a document in a sandbox has no origin, and modules are fetched with CORS.
await build({ ...common, entryPoints: ["src/frame.ts"], format: "iife" });
await build({ ...common, entryPoints: ["src/style.css", "src/frame.css"] });
for (const page of ["index.html", "frame.html"]) await copyFile(`src/${page}`, `${out}/${page}`);
