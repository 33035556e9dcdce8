"""What the default command leaves to .ci/run: cases that cost seconds beside others of the same test or law.

A file and a test of it, and patterns of its parameters, or none: then all of it.
"""

from fnmatch import fnmatchcase
from typing import Any

# The largest, of any test, and joints of which another is left that is of the same kind.
CASES_OF_ANY = (
    "tree of 13", "tree of 20", "tree of 40", "666", "elastic 666",
    "library_ellipsoid", "library_torus", "library_sphere", "library_spheroid", "library_paraboloid",
    "spinning_glider", "spinning_contact", "spinning_bead", "minimal_wire", "measured_ring", "banked_ring",
    "bspline_patch", "bezier_patch", "cyclic_bezier", "torus_on_cylinder", "twisted_cubic", "wheel_on_parabola",
)  # fmt: skip

CASES: dict[str, tuple[str, ...]] = {
    "bridge/test_collision_shapes.py::test_an_obj_file_of_one_hollow_thing_is_cut": (),
    "bridge/test_direct_route.py::test_a_window_is_spoken_to_by_address_and_may_be_closed": (),
    "bridge/test_full_disks.py::test_a_full_disk_stops_no_cutting": (),
    "bridge/test_led_bodies.py::test_bodies_that_nothing_holds_are_accelerated_as_by_any_joint": (
        "tree of 8", "screw", "helix", "euler", "telescope",
    ),
    "bridge/test_mesh_cache.py::test_a_first_robot_touches_the_ground_without_what_only_reads_meshes": (),
    "bridge/test_mirror_interrupts.py::test_an_interrupt_leaves_simulation_and_bullet_after_a_finished_step": (),
    "bridge/test_windows_and_films.py::test_renderer_keeps_quiet_and_shadows_fall": (),
    "bridge/test_windows_and_films.py::test_window_opens_where_there_is_a_display": (),
    "codegen/test_c.py::test_exported_functions_agree_with_interpreter_and_machine_code": (
        "one axis", "several axes", "curves", "contact", "surfaces", "control points", "symbolic",
    ),
    "codegen/test_c.py::test_exported_functions_of_a_constrained_scene": (),
    "codegen/test_c_operations.py::test_long_programs_are_cut": ("-O2",),
    "codegen/test_c_programs.py::test_the_example_ends_where_python_does": (),
    "codegen/test_cache.py::test_two_processes_race_and_a_third_does_not_compile": (),
    "codegen/test_cache_entries.py::test_writers_at_once_leave_whole_entries": (),
    "codegen/test_cache_loops.py::test_every_loop_of_the_project_has_one_key_in_all_processes": (),
    "codegen/test_equations.py::test_assignments_are_the_compiled_function": (
        "True-*", "False-step", "False-forward_dynamics",
    ),
    "codegen/test_equations.py::test_equations_are_the_compiled_function": (
        "torus-*", "helix-mass_matrix", "helix-*", "slider and universal-*",
    ),
    "codegen/test_interpreter.py::test_a_motion_is_the_same_whenever_code_comes": (
        "many-semi_implicit_euler", "many-implicit_midpoint",
    ),
    "contact/test_articulated.py::test_a_doll_falls_and_lies": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_cone.py::test_many_contacts_meet_coulombs_law_to_the_tolerance": ("0", "1", "2", "4"),
    "contact/test_extremes.py::test_a_press_of_a_hundred_kilonewtons_does_not_pass_through_ten_grams": ("240-*-rk4-*",),
    "contact/test_hung_rollers.py::test_what_rocks_on_an_arm_keeps_its_amplitude": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_hung_rollers.py::test_what_rolls_about_a_ball_joint_keeps_its_speed": ("rk4", "implicit_midpoint"),
    "contact/test_hung_rollers.py::test_what_rolls_round_a_pole_keeps_its_speed": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_maximal_contact.py::test_impulses_bring_no_energy_in_where_bodies_move_across_joints": ("ball",),
    "contact/test_responses.py::test_whitened_directions_multiply_to_the_inverse_of_the_mass_matrix": (
        "tree of 8", "shared 4",
    ),
    "contact/test_rocking.py::test_what_rocks_keeps_its_amplitude": ("ellipsoid-0.0-*", "ball-1.0-*"),
    "contact/test_rocking.py::test_what_rocks_with_more_hung_on_it_keeps_its_amplitude": (
        "wheel-0.0-*", "feather-1.0-*",
    ),
    "contact/test_rocking.py::test_what_springs_and_dampers_do_is_all_that_they_change": ("held law-*",),
    "contact/test_sensors_in_loops.py::test_what_nothing_but_constraints_touches_is_carried_as_they_say": ("7",),
    "contact/test_sleeping.py::test_snapshots_hold_who_sleeps_and_since_when_others_rest": ("drums-*",),
    "contact/test_solve_kernels.py::test_a_solve_is_what_plain_python_makes_of_it": ("3-until it yields",),
    "contact/test_velocity_changes.py::test_constraints_answer_contacts": ("1",),
    "contact/test_velocity_changes.py::test_velocities_change_by_the_mass_matrix": ("shared 4", "tree of 8"),
    "control/test_planning.py::test_an_acrobot_swings_up_by_its_elbow": (),
    "control/test_planning.py::test_motions_reach_their_goals_at_falling_cost": ("pendulum",),
    "control/test_whole_body.py::test_a_pushed_quadruped_comes_back": (),
    "demos/test_acrobot.py::test_it_swings_up_and_balances_by_the_elbow_alone": (),
    "demos/test_benchmark_contact.py::test_every_engine_starts_where_the_description_says_and_steps": (
        "ours-quadruped energy",
    ),
    "demos/test_benchmark_contact.py::test_heaps_sleep_beside_a_ball_that_rolls": (),
    "demos/test_benchmark_papers.py::test_method_two_agrees_with_method_one": ("*100*", "*80*", "*50*"),
    "demos/test_benchmark_papers.py::test_operations_grow_as_in_figures_6_and_7": ("torus chain",),
    "demos/test_benchmark_papers.py::test_preparation_is_measured_in_a_process_of_its_own": (),
    "demos/test_benchmark_papers.py::test_the_tables_are_printed": (),
    "demos/test_benchmark_startup.py::test_a_program_comes_to_its_first_contact": ("Laikago*",),
    "demos/test_breaking_demo.py::test_a_wheel_breaks_off_and_what_is_cut_falls": (),
    "demos/test_contact_demos.py::test_both_kinds_of_balls_hit_the_sails": (),
    "demos/test_contact_demos.py::test_chains_fall_on_their_own_rings": (),
    "demos/test_contact_demos.py::test_the_ball_breaks_the_wall": (),
    "demos/test_contact_demos.py::test_the_rover_drives_over_everything": (),
    "demos/test_gallery.py::test_demo_draws_a_film": (),
    "demos/test_gallery.py::test_demo_draws_a_picture": (
        "stand", "windmill", "leg", "coaster", "stack", "quadrotor_load", "chain_on_floor", "torus_chain",
        "laikago_terrain", "surface_board", "tong", "bead_and_wire", "bezier_chain", "over_the_pole", "disc",
        "showcase", "humanoid", "ellipsoids", "reach", "lqr", "windmill_balls", "three_ways", "ragdolls",
        "force_twin", "rover", "breaking", "driven", "kuka",
    ),
    "demos/test_gallery.py::test_demo_runs_in_a_window": (),
    "demos/test_gallery.py::test_the_gallery_is_a_page_of_pictures_and_players": (),
    "demos/test_games.py::test_the_marble_run_shows_what_there_is": (),
    "demos/test_load_controller.py::test_a_matched_start_leaves_what_sampling_leaves": (),
    "demos/test_load_controller.py::test_it_recovers_from_almost_any_attitude": ("0", "3"),
    "demos/test_load_controller.py::test_the_demo_recovers_and_stays_on_its_path": (),
    "demos/test_manifold_systems.py::test_any_terminal_will_do": ("utf-8", "cp1252"),
    "demos/test_manifold_systems.py::test_bad_command_lines_are_refused": ("arguments1*", "arguments2*"),
    "demos/test_manifold_systems.py::test_sympys_chain_is_ours": (),
    "demos/test_mechanisms_curves.py::test_a_minute_of_one_step_a_frame": ("coaster", "bezier_chain"),
    "demos/test_mechanisms_curves.py::test_bullets_bead_slides_as_ours_at_small_steps": (),
    "demos/test_mechanisms_curves.py::test_cars_stand_upright_on_the_track_and_upside_down_in_the_loop": (),
    "demos/test_mechanisms_curves.py::test_our_bead_is_on_the_wire_and_bullets_is_not": (),
    "demos/test_mechanisms_linkages.py::test_energy_error_falls_with_the_square_of_the_step": ("leg",),
    "demos/test_mechanisms_papers.py::test_a_minute_of_one_step_a_frame": ("torus_chain", "windmill"),
    "demos/test_mechanisms_papers.py::test_energy_error_of_the_midpoint_rule_falls_with_the_square_of_the_step": (
        "windmill",
    ),
    "demos/test_mechanisms_papers.py::test_momentum_about_the_hinge_is_conserved_without_gravity": ("windmill",),
    "demos/test_over_the_pole.py::test_all_keep_their_energy_over_poles_and_through_gimbal_lock": (),
    "demos/test_quadrotor_load.py::test_the_same_scene_with_joints_moves_equally": (),
    "drawing/test_beside_bullet.py::test_bullet_and_opengl_take_turns": (),
    "laws/test_backends.py::test_every_function_on_every_backend": ("5-*",),
    "laws/test_chart_mechanics.py::test_in_every_chart_a_joint_is_the_joint_of_that_chart": (
        "recursive-1-*", "recursive-2-1",
    ),
    "laws/test_constraints.py::test_newtons_law_with_the_constraints_forces": ("12 bodies-*", "5 bodies-*"),
    "laws/test_constraints.py::test_rows_keep_their_rates": ("12 bodies-lagrangian",),
    "laws/test_derivatives.py::test_constraints": ("multipliers-*",),
    "laws/test_equations_of_motion.py::test_a_coupled_tree_is_the_free_tree_with_its_coordinates_tied": ("1", "3"),
    "laws/test_equations_of_motion.py::test_forward_dynamics_undoes_inverse_dynamics_on_any_tree": (),
    "laws/test_forests.py::test_a_model_put_together_from_its_trees_is_that_of_all_bodies_at_once": (),
    "laws/test_forests.py::test_every_part_is_of_one_tree_and_every_result_of_one_place": (),
    "laws/test_forests.py::test_the_layout_of_a_forest_is_that_of_its_links_one_by_one": (),
    "laws/test_forests.py::test_trees_in_lanes_give_what_one_program_of_the_whole_gives": (
        "2-*", "1-*power*", "1-*energy*", "1-*jacobian*", "1-loaded*", "1-midpoint", "1-pose_step", "1-*wrenches",
        "1-rates", "1-variational", "1-*_velocities", "1-stage", "1-step*",
    ),
    "laws/test_joint_derivatives.py::test_against_sympy_diff": ("ellipsoid", "torus", "gibbs_six"),
    "laws/test_newton_euler.py::test_only_gravity_and_external_wrenches_change_the_momentum_of_what_floats": (
        "thirty bodies",
    ),
    "laws/test_rolling_constraints.py::test_a_stone_in_two_charts_rolls_over_its_pole": (),
    "laws/test_rolling_constraints.py::test_the_material_of_both_bodies_moves_alike_at_the_contact": (
        "*-True-False", "*-False-False",
    ),
    "laws/test_shared_coordinates.py::test_sharing_is_the_projection_of_any_free_tree": (),
    "laws/test_shared_coordinates.py::test_sharing_is_the_projection_of_the_free_tree": ("9", "14"),
    "laws/test_step_derivatives.py::test_of_every_joint": ("telescope",),
    "laws/test_step_derivatives.py::test_of_forests": (),
    "laws/test_step_derivatives.py::test_of_shared_coordinates": (),
    "laws/test_step_derivatives.py::test_of_trees_with_springs_and_dampers": ("2",),
    "laws/test_trace_form.py::test_every_joint_type_has_the_recursions_equations": ("tree of 8",),
    "laws/test_tree_derivatives.py::test_batches_broadcast": ("None-*", "kinds2-*"),
    "manifold/test_against_coordinates.py::test_accelerations_and_energies_are_those_of_euler_and_lagrange": (
        "1-*", "2-*",
    ),
    "manifold/test_against_coordinates.py::test_at_the_poles_there_is_nothing_special": (
        "*-chain_of_6", "*-double_three_dimensional", "over-*", "upright-*",
    ),
    "manifold/test_against_scenes.py::test_a_scene_and_the_manifold_move_alike_for_a_second": (
        "chain_of_5", "chain_of_6", "chain_of_4", "chain_of_3", "*_on_universals",
    ),
    "manifold/test_against_scenes.py::test_a_second_is_long_enough_for_everything_to_move": (),
    "manifold/test_against_scenes.py::test_they_move_alike_under_forces": (),
    "manifold/test_against_scenes.py::test_what_differs_is_an_error_of_fourth_order": ("chain_of_5", "chain_of_6"),
    "manifold/test_motions_apart.py::test_workers_compute_what_this_process_computes": ("spawn", "forkserver"),
    "manifold/test_printing.py::test_equations_and_steps_are_typeset": ("walker_stance", "double_spherical"),
    "manifold/test_printing.py::test_latex_is_typeset": (),
    "manifold/test_same_equations.py::test_no_slip_of_the_pen_passes": (
        "double 3D pendulum", "three-link*", "double spherical pendulum",
    ),
    "manifold/test_systems.py::test_chain_on_a_cart": ("5", "6"),
    "maximal_form/test_shown_together.py::test_bodies_move_as_in_joint_coordinates": ("*-penalty-*",),
    "maximal_form/test_shown_together.py::test_motors_limits_motions_and_constraints_act_on_them": ("penalty-*",),
    "maximal_form/test_shown_together.py::test_steps_are_those_of_the_definition": ("penalty-*",),
    "maximal_form/test_balls_between_bodies.py::test_balls_stay_within_their_limits_and_gain_nothing": (
        "penalty-semi_implicit_euler-*",
    ),
    "maximal_form/test_maximal_dynamics.py::test_steps_converge_to_the_motion_of_joint_coordinates": (
        "settings1", "settings2",
    ),
    "maximal_form/test_maximal_simulation.py::test_motors_lead_joints_as_a_whole_as_in_joint_coordinates": (
        "charts-penalty-*", "ball-penalty-*", "free-velocity_constraints-*",
    ),
    "plugin/test_rollback.py::test_two_players_never_differ": (),
    "scene/test_curve_frames.py::test_a_banked_frame_has_the_spline_of_the_directions_up": ("4-*", "5-False-*"),
    "scene/test_curve_frames.py::test_closed_curves_close": ("symbolic ring-*",),
    "scene/test_curve_frames.py::test_frames_are_rotations_along_the_tangent": ("bspline through points-*",),
    "scene/test_curves.py::test_compiled_poses_are_those_of_the_path": ("5000.0-*", "1.0-True"),
    "scene/test_curves.py::test_just_beyond_a_limit_there_is_a_frame": ("up-True",),
    "scene/test_curves.py::test_saved_and_loaded": (
        "symbolic", "ring", "bspline through points", "symbolic ring", "cyclic",
    ),
    "scene/test_file.py::test_random_trees_come_back_as_the_same_model": ("4-20",),
    "scene/test_file_constructors.py::test_another_process_reads_the_same_model": (),
    "scene/test_file_sharing.py::test_constrained_trees_come_back_as_the_same_model": ("2-7",),
    "scene/test_file_sharing_errors.py::test_a_damaged_file_loads_or_is_refused_by_name": (),
    "scene/test_file_surfaces.py::test_surfaces_roll_as_before": (
        "ellipsoid about *", "with names taken-*", "of two symbols-*", "named-*",
    ),
    "scene/test_file_surfaces.py::test_wires_and_patches_are_drawn_as_before": (),
    "scene/test_linear_work.py::test_files_are_written_and_read_in_linear_time": ("star",),
    "scene/test_linear_work.py::test_models_are_put_together_in_linear_time": ("followers",),
    "scene/test_linear_work.py::test_recursions_are_planned_in_linear_time": ("*-star-*",),
    "simulation/test_chart_watch.py::test_many_steps_are_so_many_single_ones": (
        "semi_implicit_euler-*", "implicit_midpoint-*",
    ),
    "simulation/test_charted_motors.py::test_power_is_that_of_the_springs_energy": (),
    "simulation/test_charts.py::test_a_bead_on_six_charts_each_of_half_a_sphere": (),
    "simulation/test_closed_forms.py::test_cycloid_is_isochronous": ("1.0", "3.0"),
    "simulation/test_integrator_definitions.py::test_a_compiled_step_is_the_definitions_step": (
        "*-9 bodies*", "*-floating", "semi_implicit_euler-*",
    ),
    "simulation/test_integrator_definitions.py::test_a_long_compiled_run_is_the_definition_again_and_again": (
        "variational_midpoint-balls", "variational_midpoint-floating", "variational_midpoint-prismatic ends",
        "implicit_midpoint-floating", "linearly_implicit_rk4-9 bodies*", "implicit_midpoint-balls",
        "variational_midpoint-9 bodies*", "semi_implicit_euler-*",
    ),
    "simulation/test_interrupts.py::test_a_long_call_is_interrupted_soon_and_between_steps": ("implicit_midpoint",),
    "simulation/test_limits.py::test_limits_out_of_reach_change_nothing_and_need_no_solver": (),
    "simulation/test_limits.py::test_stops_add_no_energy": ("*-springs",),
    "simulation/test_pushes.py::test_a_pushed_step_is_the_definitions_with_forces_on_bodies": ("*-any",),
    "simulation/test_travelling_simulations.py::test_workers_go_on_as_this_process_does": ("spawn", "forkserver"),
    "simulation/test_variational_constraints.py::test_energy_of_closed_chains_stays_in_a_band": ("inertia0-True",),
    "simulation/test_whole_steps.py::test_a_long_run_is_interrupted_at_once_after_a_whole_step": (
        "implicit_midpoint-*",
    ),
    "simulation/test_worker_processes.py::test_workers_compute_what_this_process_computes": ("spawn",),
    "test_quality.py::test_tool_is_content": ("types",),
    "test_readme.py::test_the_examples_run_one_after_the_other": (
        "control.md", "conversion.md", "mechanisms.md", "recording.md", "viewer.md", "c.md", "topology.md",
        "frames.md", "derivatives.md", "contact.md", "performance.md", "time.md",
    ),
    "viewer/test_viewer.py::test_demos_run_in_the_window": (),
    "viewer/test_viewer.py::test_real_windows_open_side_by_side_and_show_what_hidden_ones_do": (),
}  # fmt: skip


def slow(place: str, test: str, parameters: dict[str, Any], case: str) -> bool:
    """Whether a case waits for .ci/run: of the test in the file at ``place``, called ``case`` for its parameters."""
    if any(str(value) in CASES_OF_ANY for value in parameters.values()):
        return True
    patterns = CASES.get(f"{place}::{test}")
    return patterns is not None and (not patterns or any(fnmatchcase(case, p) for p in patterns))
