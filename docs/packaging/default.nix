# SPDX-License-Identifier: MIT
#
# nix-build docs/packaging
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "git-agent";
  version = "0.1.0";
  src = ../..;

  nativeBuildInputs = with pkgs; [ autoreconfHook pkg-config makeWrapper git perl ];
  buildInputs = with pkgs; [ libgit2 libyaml libseccomp jansson nettle utf8proc zlib glibc.static ];

  configureFlags = [ "--disable-unit-tests" ];
  # what a sandbox begins with is looked for on PATH
  postInstall = ''
    wrapProgram $out/bin/git-agent --prefix PATH : ${pkgs.lib.makeBinPath [ pkgs.git pkgs.bubblewrap ]}
  '';

  meta = {
    description = "Run coding agents in a sandbox and get their work back as commits";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "git-agent";
  };
}
